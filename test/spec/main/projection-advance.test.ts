import { expect, test } from 'vitest'
import { advancesOf } from '../../../src/main/read-side/projection-advance.ts'
import { trackStandby } from '../../../src/main/read-side/standby.ts'
import type { LaneProgress } from '../../../src/runtime/projections/projection-runner.ts'

const whole = { from: 0, to: 255 }
const report = (name: string, changes: Partial<LaneProgress> = {}): LaneProgress => ({
  name,
  range: whole,
  position: 7,
  readable: true,
  touched: [],
  workspaces: [],
  standby: false,
  ...changes,
})

test('reports of projections that have come equally far without documents travel as one', () => {
  const half = { range: { from: 0, to: 127 } }
  const touched = { touched: ['b1'], workspaces: ['w1'] }
  const reports = [
    report('calls'),
    report('buyers', touched),
    report('pings'),
    report('pings', { position: 8 }),
    report('calls', half),
    report('users', { readable: false }),
    report('seats', { standby: true }),
    report('keys', { workspaces: null }),
    report('buyers', touched),
    report('pools'),
  ]
  const shared = { range: whole, position: 7, readable: true, workspaces: [], standby: false, touched: false }
  expect(advancesOf(reports)).toEqual([
    { ...shared, names: ['calls', 'pings', 'pools'] },
    { ...shared, names: ['buyers'], workspaces: ['w1'], touched: true },
    { ...shared, names: ['pings'], position: 8 },
    { ...shared, names: ['calls'], ...half },
    { ...shared, names: ['users'], readable: false },
    { ...shared, names: ['seats'], standby: true },
    { ...shared, names: ['keys'], workspaces: null },
    { ...shared, names: ['buyers'], workspaces: ['w1'], touched: true },
  ])
})

test('another process projects for as long as any lane is on standby, or none is here', () => {
  const { isRemotelyProjected, update } = trackStandby(true)
  expect(isRemotelyProjected()).toBe(false)
  update([{ names: ['calls', 'pings'], range: whole, standby: true }])
  update([{ names: ['calls'], range: whole, standby: false }])
  expect(isRemotelyProjected()).toBe(true)
  update([{ names: ['pings'], range: whole, standby: false }])
  expect(isRemotelyProjected()).toBe(false)
  expect(trackStandby(false).isRemotelyProjected()).toBe(true)
})

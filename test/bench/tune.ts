import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { catchUp } from './catch-up.ts'
import { fillLog, playTemplates } from './generated-log.ts'

if (!existsSync('/tmp/bl/log/events.db')) {
  mkdirSync('/tmp/bl/log', { recursive: true })
  const played = await playTemplates('/tmp/bl/log')
  fillLog('/tmp/bl/log', played, 200_000)
}
const n = Number(process.argv[2] ?? 100_000)
for (let i = 0; i < 3; i++) {
  rmSync('/tmp/bl/v', { recursive: true, force: true })
  mkdirSync('/tmp/bl/v')
  const c = process.cpuUsage()
  const s = await catchUp('/tmp/bl/log/events.db', '/tmp/bl/v/views.db', n)
  const d = process.cpuUsage(c)
  console.log(
    'wall',
    s.toFixed(2),
    'user',
    (d.user / 1e6).toFixed(2),
    'sys',
    (d.system / 1e6).toFixed(2),
    'us/event cpu',
    ((d.user + d.system) / n).toFixed(1),
  )
}

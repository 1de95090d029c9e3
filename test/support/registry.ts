import { readdir } from 'node:fs/promises'
import type { AnyCommand } from '../../src/kernel/command.ts'
import type { Entity } from '../../src/kernel/entity.ts'
import type { AnyProjection } from '../../src/kernel/projection.ts'
import * as sample from './sample.ts'

/** Whatever a folder's files export. */
async function exportsOf(folder: string): Promise<readonly unknown[]> {
  const at = new URL(`../../${folder}/`, import.meta.url)
  const files = (await readdir(at)).filter((file) => file.endsWith('.ts')).toSorted()
  const modules = await Promise.all(files.map((file): Promise<object> => import(new URL(file, at).href)))
  return modules.flatMap((module) => Object.values(module))
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null
const isCommand = (value: unknown): value is AnyCommand => isObject(value) && 'decide' in value && 'entity' in value
const isProjection = (value: unknown): value is AnyProjection => isObject(value) && 'starts' in value && 'key' in value

const ours: readonly unknown[] = Object.values(sample)
const held = async (folder: string) => [...ours, ...(await exportsOf(folder))]

/** Every command there is, registered or not, and a few of a sample domain. */
export const commands: readonly AnyCommand[] = [...new Set((await held('commands')).filter(isCommand))]

/** Every projection there is, and those of the sample domain. */
export const projections: readonly AnyProjection[] = [...new Set((await held('projections')).filter(isProjection))]

/** Every entity that a command writes. */
export const entities: readonly Entity[] = [...new Set(commands.map(({ entity }): Entity => entity))]

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { keptVerifiers, webhookPage } from '../src/domain/delivery/catalogue.ts'

const path = join(import.meta.dirname, '../docs/webhooks.md')
const present = await readFile(path, 'utf8').catch(() => '')
await writeFile(path, webhookPage(keptVerifiers(present)))

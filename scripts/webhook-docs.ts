import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { webhookPage } from '../src/domain/delivery/catalogue.ts'

const docs = join(import.meta.dirname, '../docs')
await writeFile(join(docs, 'webhooks.md'), webhookPage(await readFile(join(docs, 'verifiers/page.md'), 'utf8')))

import { openApiDocument } from '../src/main/openapi.ts'

process.stdout.write(`${JSON.stringify(await openApiDocument(), null, 2)}\n`)

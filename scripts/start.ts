import closeWithGrace from 'close-with-grace'
import { processEnvironment } from '../src/main/config.ts'
import { start } from '../src/main/start.ts'

const running = await start(processEnvironment())
if (running) {
  closeWithGrace({ delay: 20_000 }, async () => {
    await running.close()
  })
}

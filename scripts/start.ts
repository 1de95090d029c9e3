import closeWithGrace from 'close-with-grace'
import { start } from '../src/main/start.ts'

const running = await start(process.env)
if (running) {
  closeWithGrace({ delay: 20_000 }, async () => {
    await running.close()
  })
}

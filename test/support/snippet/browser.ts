import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const USUAL_PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** Path of a Chromium: what the variable CHROMIUM names, or one in a usual place. Null with a warning when there is none. */
export function chromiumPath(): string | null {
  const named = process.env.CHROMIUM
  if (named) return named
  const found = USUAL_PATHS.find((path) => existsSync(path))
  if (found === undefined)
    console.warn(
      'No Chromium: tests in a browser are skipped. Install the package chromium, or set CHROMIUM to its path.',
    )
  return found ?? null
}

/** Starts the browser without a window, with its back-forward cache on. */
export function launchBrowser(executablePath: string): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
  })
}

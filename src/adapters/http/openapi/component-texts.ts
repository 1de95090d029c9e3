/** What each named schema is. */
export const componentTexts: Readonly<Record<string, string>> = {}

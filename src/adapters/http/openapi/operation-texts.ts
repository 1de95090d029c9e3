/** What each operation does, beyond its summary. */
export const operationTexts: Readonly<Record<string, string>> = {}

/** The digits of a text that is written like a phone number; empty for any other text, such as a name with a 7 in it. */
export function digitsOf(text: string): string {
  return /^[\d\s().+/-]*$/.test(text) ? text.replace(/\D/g, '') : ''
}

/** Text as one line of at most so many characters. */
export function oneLine(text: string, maxChars: number): string {
  const line = text.replaceAll(/\s+/g, " ").trim()
  return line.length <= maxChars ? line : `${line.slice(0, maxChars - 1).trimEnd()}…`
}

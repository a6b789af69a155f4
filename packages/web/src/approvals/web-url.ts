/** An address that a browser may be sent to; undefined for anything else, such as what would run. */
export function webUrlOf(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url?.protocol === "https:" || url?.protocol === "http:" ? url : undefined
}

/** An address that a browser may be sent to; undefined for anything else, such as what would run. */
export function webUrlOf(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url?.protocol === "https:" || url?.protocol === "http:" ? url : undefined
}

type AroundHost = readonly [before: string, host: string, after: string]

/** An address around its host, which is what tells where it leads: what stands before an `@` only looks like one. */
export function aroundHost(text: string): AroundHost | undefined {
  const url = webUrlOf(text)
  const asWritten = cutAtHost(text)
  if (url === undefined) return asWritten
  const leadsTo = asWritten === undefined ? undefined : webUrlOf(`${url.protocol}//${asWritten[1]}`)?.host
  // Browsers open more spellings than we can cut: then it is shown as they take it.
  return leadsTo === url.host ? asWritten : cutAtHost(url.href)
}

function cutAtHost(text: string): AroundHost | undefined {
  const [, before, host, after] = /^(\s*[a-z][a-z0-9+.-]*:[\\/]{2}(?:[^\\/?#]*@)?)([^\\/?#]+)(.*)$/is.exec(text) ?? []
  return before === undefined || host === undefined || after === undefined ? undefined : [before, host, after]
}

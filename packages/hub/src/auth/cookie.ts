/** The values of a cookie, at most a few: another program on this host may have set one of the same name. */
export function readCookie(header: string | undefined, name: string): readonly string[] {
  return (header ?? "")
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1))
    .slice(0, 4)
}

export function writeCookie(cookie: { name: string; value: string; maxAgeSeconds: number; secure: boolean }): string {
  const { name, value, maxAgeSeconds, secure } = cookie
  return `${name}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict${secure ? "; Secure" : ""}`
}

import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { gzip } from "node:zlib"
import type { Hono } from "hono"
import { HubError } from "../errors.ts"
import type { HttpEnv } from "./read-request.ts"
import { bytesReply } from "./reply.ts"

/** The cockpit's addresses: one page serves them all. Nothing below `/api` or of another door is among them. */
const PAGES = [
  "/",
  "/login",
  "/sessions",
  "/new",
  "/s/:id",
  "/requests",
  "/requests/:id",
  // Where requests were before: the page goes on to them.
  "/approvals",
  "/approvals/:id",
  "/search",
  "/machines",
  "/machines/:id",
  "/policy",
  "/policy/:page",
  "/audit",
  "/audit/:id",
  "/settings/:page",
] as const

/** Whatever is asked for there is told to a program. */
const FOR_PROGRAMS = /^\/(?:api|v1|ws|assets)(?:\/|$)/

/** Files that stand at the root under their own names, and so may change. */
const ROOT_FILES = ["/icon.svg", "/icon-waiting.svg", "/manifest.webmanifest"] as const

const TYPES: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  png: "image/png",
  woff2: "font/woff2",
  webmanifest: "application/manifest+json",
}

/** A name with the hash of its content in it, as the build writes it: never a path. */
const ASSET_NAME = /^[\w-]+(?:\.[\w-]+)*\.(js|css|svg|png|woff2)$/
const FOREVER = "public, max-age=31536000, immutable"
/** Bound on the files already read: the whole cockpit is a fraction of it. */
const MAX_CACHED_BYTES = 32 * 1024 * 1024

/** A page of ours: its own files, its own hub, nothing inline and nothing from elsewhere. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "worker-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ")

const compress = promisify(gzip)

interface Content {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly gzipped: Uint8Array<ArrayBuffer>
}

/** Serves the built cockpit from its directory. Registered before everything else: `/` is its page, not the plain one. */
export function addCockpit(hono: Hono<HttpEnv>, directory: string): void {
  /** Readings too: whoever asks for a file while it is read waits for that reading. */
  const cached = new Map<string, Promise<Content | undefined>>()
  let cachedBytes = 0

  function readAsset(name: string): Promise<Content | undefined> {
    const known = cached.get(name)
    if (known !== undefined) return known
    const reading = readContent(join(directory, "assets", name)).then((content) => {
      const size = content === undefined ? Number.POSITIVE_INFINITY : content.bytes.length + content.gzipped.length
      if (cachedBytes + size <= MAX_CACHED_BYTES) cachedBytes += size
      else cached.delete(name)
      return content
    })
    cached.set(name, reading)
    return reading
  }

  for (const path of PAGES) {
    hono.get(path, async (context) => {
      context.set("path", path)
      const page = await readPage(directory, 200)
      if (page === undefined) throw missing("The cockpit is not built: npm run build")
      return page
    })
  }
  for (const path of ROOT_FILES) {
    hono.get(path, async (context) => {
      context.set("path", path)
      const file = await readOrNothing(join(directory, path.slice(1)))
      if (file === undefined) throw missing("There is no such file")
      return bytesReply(file, { headers: new Headers({ "content-type": typeOf(path), "cache-control": "no-cache" }) })
    })
  }
  hono.get("/assets/:name", async (context) => {
    context.set("path", "/assets/:name")
    const name = context.req.param("name")
    const content = ASSET_NAME.test(name) ? await readAsset(name) : undefined
    if (content === undefined) throw missing("There is no such file: reload the page, the cockpit may be newer")
    // Fonts and pictures are compressed already.
    const isSmaller = content.gzipped.length < content.bytes.length
    const takesGzip = isSmaller && /\bgzip\b/.test(context.req.header("accept-encoding") ?? "")
    const headers = new Headers({ "content-type": typeOf(name), "cache-control": FOREVER, vary: "accept-encoding" })
    if (takesGzip) headers.set("content-encoding", "gzip")
    return bytesReply(takesGzip ? content.gzipped : content.bytes, { headers })
  })
}

/** Registered after everything else: somebody who looks at an address where nothing is gets the cockpit, which says so. */
export function addCockpitElsewhere(hono: Hono<HttpEnv>, directory: string): void {
  hono.get("*", async (context, next) => {
    const isForPeople = /\btext\/html\b/.test(context.req.header("accept") ?? "")
    if (!isForPeople || FOR_PROGRAMS.test(context.req.path)) return next()
    return (await readPage(directory, 404)) ?? next()
  })
}

async function readPage(directory: string, status: number): Promise<Response | undefined> {
  const page = await readOrNothing(join(directory, "index.html"))
  const headers = new Headers({ "content-type": "text/html; charset=utf-8", "content-security-policy": PAGE_POLICY })
  return page === undefined ? undefined : bytesReply(page, { status, headers })
}

function typeOf(name: string): string {
  return TYPES[name.slice(name.lastIndexOf(".") + 1)] ?? "application/octet-stream"
}

function missing(message: string): HubError {
  return new HubError("route/unknown", message)
}

async function readContent(path: string): Promise<Content | undefined> {
  const bytes = await readOrNothing(path)
  return bytes === undefined ? undefined : { bytes, gzipped: new Uint8Array(await compress(bytes)) }
}

async function readOrNothing(path: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  try {
    return new Uint8Array(await readFile(path))
  } catch {
    return undefined
  }
}

const HTML = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Signalbox</title>
<script src="/login.js" type="module"></script>
</head>
<body>
<h1>Signalbox</h1>
<p>This is the hub of a control plane for Claude Code agents. It is running.</p>
<p id="login"></p>
<p>Programs talk to it by its <a href="/api/openapi.json">REST interface</a>, with a token of its own.</p>
</body>
</html>
`

/** A code in the fragment never reaches a server's log; it is taken out of the address before anything else. */
const LOGIN_SCRIPT = `const code = new URLSearchParams(location.hash.slice(1)).get("code")
if (code !== null) {
  history.replaceState(null, "", "/")
  const reply = await fetch("/api/login", { method: "POST", body: JSON.stringify({ code }) })
  const body = await reply.json()
  document.getElementById("login").textContent = reply.ok ? "You are signed in as " + body.name + "." : body.error.message
}
`

/** The page at `/` and `/login` until there is a cockpit. */
export function plainPage(): Response {
  const headers = { "content-type": "text/html; charset=utf-8", "content-security-policy": PAGE_POLICY }
  return new Response(HTML, { headers })
}

export function loginScript(): Response {
  return new Response(LOGIN_SCRIPT, { headers: { "content-type": "text/javascript; charset=utf-8" } })
}

import { PAGE_POLICY } from "./security-headers.ts"

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

/** What stands at `/` and `/login` until there is a cockpit. */
export function plainPage(): Response {
  const headers = { "content-type": "text/html; charset=utf-8", "content-security-policy": PAGE_POLICY }
  return new Response(HTML, { headers })
}

export function loginScript(): Response {
  return new Response(LOGIN_SCRIPT, { headers: { "content-type": "text/javascript; charset=utf-8" } })
}

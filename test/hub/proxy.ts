import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { connect } from "node:net"
import { join } from "node:path"
import { expect } from "vitest"
import { ensureSystemPackage } from "../../scripts/system-package.mjs"
import { blockOf } from "../docs/snippets.ts"

/** Where a proxy of the guide listens, and the ports of the hubs that it stands in front of; `folder` is its own. */
interface ProxyPlace {
  readonly folder: string
  readonly port: number
  readonly hubPorts: readonly number[]
}

/** A program that reads a block of docs/scale.md as its configuration. Undefined: it cannot be had here. */
interface ProxyProgram {
  readonly name: string
  readonly command: string | undefined
  /** Writes what it reads, and returns its arguments. */
  readonly configure: (place: ProxyPlace, certificate: Certificate) => readonly string[]
}

export interface Certificate {
  readonly file: string
  readonly key: string
}

export function makeCertificate(folder: string): Certificate {
  const [file, key] = [join(folder, "test.crt"), join(folder, "test.key")]
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
  const files = ["-keyout", key, "-out", file]
  const args = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", ...subject, ...files]
  execFileSync(ensureSystemPackage("openssl") ?? "", args, { stdio: "ignore" })
  return { file, key }
}

/** The guide's text with this machine's places in it; each place must be there. */
function placed(text: string, places: Readonly<Record<string, string>>): string {
  let now = text
  for (const [there, here] of Object.entries(places)) {
    expect(now, there).toContain(there)
    now = now.replaceAll(there, here)
  }
  return now
}

/** The guide has a block for one hub, and one for several. */
function blockFor(program: string, hubPorts: readonly number[]): string {
  return blockOf("docs/scale.md", hubPorts.length === 1 ? program : `${program} several`)
}

function hubsAt(hubPorts: readonly number[]): Readonly<Record<string, string>> {
  const hosts = hubPorts.length === 1 ? ["127.0.0.1"] : hubPorts.map((_, at) => `10.0.0.${at + 2}`)
  return Object.fromEntries(hosts.map((host, at) => [`${host}:8765`, `127.0.0.1:${hubPorts[at]}`]))
}

const nginx: ProxyProgram = {
  name: "nginx",
  command: ensureSystemPackage("nginx"),
  configure({ folder, port, hubPorts }, { file, key }) {
    const site = placed(blockFor("nginx", hubPorts), {
      "listen 443": `listen 127.0.0.1:${port}`,
      "signalbox.example.org": "localhost",
      "/etc/ssl/signalbox.crt": file,
      "/etc/ssl/signalbox.key": key,
      ...hubsAt(hubPorts),
    })
    const folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
      (name) => `${name}_temp_path ${join(folder, name)};`,
    )
    const user = process.getuid?.() === 0 ? "user root;\n" : ""
    const http = `http {\naccess_log off;\n${folders.join("\n")}\n${site}}\n`
    const main = join(folder, "nginx.conf")
    writeFileSync(main, `${user}daemon off;\npid ${join(folder, "nginx.pid")};\nevents {}\n${http}`)
    return ["-e", "stderr", "-p", folder, "-c", main]
  },
}

const caddy: ProxyProgram = {
  name: "caddy",
  command: ensureSystemPackage("caddy"),
  configure({ folder, port, hubPorts }, { file, key }) {
    const site = placed(blockFor("caddy", hubPorts), {
      "signalbox.example.org {": `https://localhost:${port} {\n\tbind 127.0.0.1\n\ttls ${file} ${key}`,
      ...hubsAt(hubPorts),
    })
    const main = join(folder, "Caddyfile")
    writeFileSync(main, `{\n\tadmin off\n\tauto_https disable_redirects\n\tskip_install_trust\n}\n${site}`)
    return ["run", "--config", main, "--adapter", "caddyfile"]
  },
}

export const proxies: readonly ProxyProgram[] = [nginx, caddy]

/** Returns when it listens. */
export async function startProxy(
  { command = "", configure, name }: ProxyProgram,
  place: ProxyPlace,
  certificate: Certificate,
): Promise<ChildProcess> {
  const folder = join(place.folder, name)
  mkdirSync(folder)
  const args = configure({ ...place, folder }, certificate)
  const env = { PATH: process.env["PATH"], HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }
  const child = spawn(command, args, { env, stdio: ["ignore", "ignore", "pipe"] })
  let said = ""
  child.stderr.on("data", (text: Buffer) => {
    said += text.toString()
  })
  const isUp = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect(place.port, "127.0.0.1", () => {
        socket.destroy()
        resolve(true)
      })
      socket.on("error", () => resolve(false))
    })
  await expect
    .poll(async () => (await isUp()) || (child.exitCode === null ? "waits" : said), { timeout: 60_000 })
    .toBe(true)
  return child
}

/** The flags of a command line of the guide, without those for which a test's hub has its own. */
export function hubFlags(line: string, publicUrl: string): readonly string[] {
  const words = line.slice(line.indexOf("signalbox up ") + "signalbox up ".length).split(" ")
  const own = new Set(["--port", "--data", "--host", "--store", "--cluster-url"])
  const kept = words.filter((word, at) => !own.has(word) && !own.has(words[at - 1] ?? ""))
  return kept
    .filter((word) => word !== "--no-open" && word !== "--no-runner")
    .map((word) => (word === "https://signalbox.example.org" ? publicUrl : word))
}

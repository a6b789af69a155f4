import type { IncomingMessage } from "node:http"
import { BlockList, isIP } from "node:net"
import type { SignedInBrowser } from "@signalbox/protocol/hub-api"
import { type Clock, readBearer, systemClock } from "@signalbox/transport"
import { HubError } from "../errors.ts"
import type { Caller, TokenRecord } from "../model/access.ts"
import type { Exposure } from "./exposure.ts"
import { type Login, LoginCodes, Logins, LoginThrottle, readCookie, writeCookie } from "./logins.ts"
import { hasAccess } from "./roles.ts"
import { callerOf, type TokenDirectory, Tokens } from "./tokens.ts"

export interface AuthorityOptions {
  readonly directory: TokenDirectory
  readonly exposure: Exposure
  readonly clock?: Clock
}

/** `caller` is null when no credential was shown at all; a wrong one is refused. */
export type UpgradeCheck =
  | { readonly ok: true; readonly caller: Caller | null; readonly loopback: boolean; readonly origin: OriginVerdict }
  | { readonly ok: false; readonly error: HubError }

export type Credential = { readonly token: string } | { readonly code: string }

/** Who is asking, and from where: the one place that HTTP and WebSocket requests are let in or refused. */
export class Authority {
  readonly tokens: Tokens
  readonly exposure: Exposure
  readonly #logins: Logins
  readonly #codes: LoginCodes
  readonly #throttle: LoginThrottle

  private constructor(options: {
    tokens: Tokens
    logins: Logins
    codes: LoginCodes
    exposure: Exposure
    clock: Clock
  }) {
    this.tokens = options.tokens
    this.exposure = options.exposure
    this.#logins = options.logins
    this.#codes = options.codes
    this.#throttle = new LoginThrottle(options.clock)
  }

  static async open({ directory, exposure, clock = systemClock }: AuthorityOptions): Promise<Authority> {
    const [tokens, logins] = await Promise.all([Tokens.open(directory, clock), Logins.open(directory, clock)])
    const codes = new LoginCodes(directory, clock)
    return new Authority({ tokens, logins, codes, exposure, clock })
  }

  /** Another hub may have let somebody in or out. */
  async refresh(): Promise<void> {
    await Promise.all([this.tokens.refresh(), this.#logins.refresh()])
  }

  checkHostAndOrigin(facts: RequestFacts): OriginVerdict {
    return checkHostAndOrigin(facts, this.exposure)
  }

  /** Before a request is checked: its token may be in the store alone. */
  async meet(authorization: string | undefined): Promise<void> {
    const secret = readBearer(authorization)
    if (secret !== undefined) await this.tokens.meet(secret)
  }

  /** Null when there is no credential. A wrong one is refused, whatever else is shown beside it. */
  identify(facts: RequestFacts): Caller | null {
    if ([...facts.headerNames()].some((name) => name.toLowerCase() === "authorization")) {
      const secret = readBearer(facts.header("authorization"))
      const token = secret === undefined ? undefined : this.tokens.find(secret)
      if (token === undefined) throw unknownCredential("This token is not valid: it is wrong, revoked or has run out")
      return callerOf(token)
    }
    const loginIds = this.#loginIdsOf(facts)
    if (loginIds.length === 0) return null
    const caller = loginIds.map((id) => this.#callerOfLogin(id)).find((found) => found !== undefined)
    if (caller === undefined) throw unknownCredential("This browser is not signed in any more: sign in again")
    return caller
  }

  /** For upgrades, and for requests that are taken off the raw server. */
  checkUpgrade(request: IncomingMessage): UpgradeCheck {
    const facts = factsOfMessage(request)
    try {
      const origin = this.checkHostAndOrigin(facts)
      return { ok: true, caller: this.identify(facts), loopback: isLoopbackRequest(facts), origin }
    } catch (error) {
      if (error instanceof HubError) return { ok: false, error }
      throw error
    }
  }

  /** The caller that a token given by other means (an `auth` line) stands for. */
  async identifyToken(secret: string): Promise<Caller | undefined> {
    await this.tokens.meet(secret)
    const token = this.tokens.find(secret)
    return token === undefined ? undefined : callerOf(token)
  }

  /** A code that signs one browser in within a minute, as the bearer of this token. */
  createLoginCode(tokenId: string): Promise<string> {
    return this.#codes.create(tokenId)
  }

  /** The refusal of a wrong token or code. Counts the failure: after too many, the caller is only told to wait. */
  loginFailure(facts: RequestFacts, message: string): HubError {
    const waitMs = this.#throttle.fail(clientAddress(facts, this.exposure.trustedProxies))
    if (waitMs === undefined) return unknownCredential(message)
    const retryAfterSeconds = Math.ceil(waitMs / 1000)
    return new HubError("auth/throttled", `Too many failed attempts to sign in: try again in ${retryAfterSeconds} s`, {
      details: { retryAfterSeconds },
    })
  }

  async login(credential: Credential, facts: RequestFacts): Promise<{ caller: Caller; cookie: string }> {
    if ("token" in credential) await this.tokens.meet(credential.token)
    const token = "token" in credential ? this.tokens.find(credential.token) : await this.#tokenOfCode(credential.code)
    if (token === undefined)
      throw this.loginFailure(
        facts,
        "token" in credential
          ? this.tokens.whyNot(credential.token)
          : "This code is not valid: it is wrong, used or has run out",
      )
    if (!hasAccess(token.role, "viewer")) {
      throw new HubError("auth/forbidden", `Nobody signs in with a token of the role ${token.role}`)
    }
    const { loginId: value, maxAgeSeconds } = await this.#logins.create(token, facts.header("user-agent"))
    const secure = isSecurePublic(facts, this.exposure)
    const cookie = writeCookie({ name: this.#logins.cookieName, value, maxAgeSeconds, secure })
    return { caller: callerOf(token), cookie }
  }

  /** Returns the cookie that clears the browser's, also when it was not signed in. */
  async logout(facts: RequestFacts): Promise<string> {
    for (const id of this.#loginIdsOf(facts)) await this.#logins.end(id)
    const secure = isSecurePublic(facts, this.exposure)
    return writeCookie({ name: this.#logins.cookieName, value: "", maxAgeSeconds: 0, secure })
  }

  /** The signed-in browsers that the caller may know of: an admin of all, anybody else of their own. */
  listLogins(caller: Caller): readonly SignedInBrowser[] {
    return this.#loginsFor(caller).map(([, browser]) => browser)
  }

  /** Closes its open connections, too. */
  async endLogin(id: string, caller: Caller): Promise<SignedInBrowser> {
    const [login, browser] = this.#loginsFor(caller).find(([, one]) => one.id === id) ?? []
    if (login === undefined || browser === undefined) {
      throw new HubError("login/unknown", `No browser ${id} is signed in: list them to see their ids`)
    }
    await this.#logins.revoke(login, caller.name)
    return browser
  }

  /** Called when a token or a login is over: whoever holds connections open closes those whose caller it was. */
  onEnded(listener: (isEnded: (caller: Caller) => boolean) => void): () => void {
    const ends = [
      this.tokens.onEnded((tokenId) => listener((caller) => caller.tokenId === tokenId)),
      this.#logins.onEnded((login) => listener((caller) => caller.login === login)),
    ]
    return () => {
      for (const end of ends) end()
    }
  }

  close(): void {
    this.tokens.close()
  }

  #loginsFor({ name, role, login }: Caller): readonly (readonly [Login, SignedInBrowser])[] {
    return this.#logins.list().flatMap((one) => {
      const token = this.tokens.getLive(one.tokenId)
      const whose = token === undefined ? undefined : callerOf(token)
      if (whose === undefined || (role !== "admin" && whose.name !== name)) return []
      const browser = browserOf(one, whose, login === one.hash)
      return browser === undefined ? [] : [[one, browser] as const]
    })
  }

  #callerOfLogin(loginId: string): Caller | undefined {
    const login = this.#logins.find(loginId)
    const token = login === undefined ? undefined : this.tokens.getLive(login.tokenId)
    return login === undefined || token === undefined ? undefined : { ...callerOf(token), login: login.hash }
  }

  async #tokenOfCode(code: string): Promise<TokenRecord | undefined> {
    const tokenId = await this.#codes.redeem(code)
    if (tokenId !== undefined) await this.tokens.meetId(tokenId)
    return tokenId === undefined ? undefined : this.tokens.getLive(tokenId)
  }

  /**
   * Cookies know no ports, and to a browser every port of this machine is the same site: a request that a page of
   * another port made counts as one without a cookie. Where it bears an `Origin`, that was checked already.
   */
  #loginIdsOf(facts: RequestFacts): readonly string[] {
    const site = facts.header("sec-fetch-site")
    const foreign = site === "cross-site" || site === "same-site"
    if (foreign && facts.header("origin") === undefined) return []
    return readCookie(facts.header("cookie"), this.#logins.cookieName)
  }
}

const ID_CHARS = 16

/** By the beginning of the hash of what its cookie holds: nothing leads from that to the cookie. */
function browserOf(login: Login, { name, role }: Caller, current: boolean): SignedInBrowser | undefined {
  if (role === "agent" || role === "runner") return undefined
  const { hash, tokenId, createdAt, browser = null } = login
  return {
    id: hash.slice(0, ID_CHARS),
    tokenId,
    name,
    role,
    createdAt: createdAt === undefined ? null : new Date(createdAt).toISOString(),
    expiresAt: new Date(login.expiresAt).toISOString(),
    browser,
    current,
  }
}

function unknownCredential(message: string): HubError {
  return new HubError("auth/required", message)
}

/** The facts that are decided on before anything else is read: the same for HTTP and for the upgrade to a WebSocket. */
export interface RequestFacts {
  /** By lower-case name. Undefined also for a header that may stand once and stands twice. */
  header(name: string): string | undefined
  headerNames(): Iterable<string>
  /** The address at the other end of the socket. */
  readonly peer: string | undefined
}

/** Node keeps the first of these and drops the rest in silence; two of them are somebody's trick. */
const ONCE = new Set(["host", "origin", "authorization"])

export function factsOfMessage(message: IncomingMessage): RequestFacts {
  const distinct = message.headersDistinct
  return {
    header(name) {
      const values = distinct[name]
      if (values === undefined || (ONCE.has(name) && values.length > 1)) return undefined
      if (name === "cookie") return values.join("; ")
      return name === "x-forwarded-for" ? values.join(", ") : values[0]
    },
    headerNames: () => Object.keys(distinct),
    peer: message.socket.remoteAddress,
  }
}

export function factsOfRequest(request: Request, peer: string | undefined): RequestFacts {
  return {
    header: (name) => request.headers.get(name) ?? undefined,
    headerNames: () => request.headers.keys(),
    peer,
  }
}

const LOOPBACK = new BlockList()
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4")
LOOPBACK.addAddress("::1", "ipv6")

/** A caller that sends one of these, or had one added, is not known to be on this machine. */
const FORWARDING =
  /^(?:forwarded|via|cdn-loop|cf-ray|x-(?:forwarded|original|envoy)(?:-.*)?|x-real-ip|(?:.*-)?(?:client|connecting|user)-?ip)$/

function isAmong(addresses: BlockList, address = ""): boolean {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, "")
  const family = isIP(plain)
  return family !== 0 && addresses.check(plain, family === 4 ? "ipv4" : "ipv6")
}

export function isLoopbackAddress(address: string | undefined): boolean {
  return isAmong(LOOPBACK, address)
}

/** A host's name or address without its port, as URLs write it. */
export function isLoopbackName(hostname: string): boolean {
  return hostname === "localhost" || isLoopbackAddress(hostname.replace(/^\[(.*)\]$/, "$1"))
}

/** A `Host` as URLs write it: lower case, no default port. Undefined when it is no host. */
function readHost(host: string | undefined, scheme = "http:"): URL | undefined {
  // Only what a name, an address or a port is made of: no user, path or query can hide in it.
  if (host === undefined || !/^[\w.:[\]-]+$/.test(host)) return undefined
  const url = `${scheme}//${host}`
  return URL.canParse(url) ? new URL(url) : undefined
}

/** "Loopback" means a loopback peer, a loopback `Host` and no forwarding header. */
export function isLoopbackRequest(facts: RequestFacts): boolean {
  const host = readHost(facts.header("host"))
  if (host === undefined || !isLoopbackName(host.hostname) || !isLoopbackAddress(facts.peer)) return false
  return ![...facts.headerNames()].some((name) => FORWARDING.test(name.toLowerCase()))
}

/** Whether a request's `Origin` is none, the hub's own, or one that was named. */
export type OriginVerdict = { kind: "none" } | { kind: "own" } | { kind: "allowed"; origin: string }

/** Refuses a foreign `Host` (a rebound DNS name) and a foreign `Origin` (a page of somebody else). */
export function checkHostAndOrigin(facts: RequestFacts, exposure: Exposure): OriginVerdict {
  const host = readHost(facts.header("host"))
  if (host === undefined || !(isLoopbackName(host.hostname) || isPublicHost(facts, exposure))) {
    throw new HubError(
      "auth/host",
      "This Host is not one of the hub's: use localhost or 127.0.0.1, or start the hub with --public-url",
    )
  }
  const names = [...facts.headerNames()].map((name) => name.toLowerCase())
  const origin = facts.header("origin")
  // Two `Origin` headers read as undefined, and are not the same as none.
  if (origin === undefined && !names.includes("origin")) return { kind: "none" }
  if (origin !== undefined && isOwnOrigin(origin, host, exposure)) return { kind: "own" }
  if (origin !== undefined && exposure.allowedOrigins.has(origin)) return { kind: "allowed", origin }
  throw new HubError(
    "auth/origin",
    "Pages of this Origin may not talk to the hub: start it with --allow-origin and that Origin, if they should",
  )
}

/** Whether the request came in by the public https address, so that a cookie for it must never travel in plain text. */
function isSecurePublic(facts: RequestFacts, exposure: Exposure): boolean {
  return exposure.publicUrl?.protocol === "https:" && isPublicHost(facts, exposure)
}

function isPublicHost(facts: RequestFacts, { publicUrl }: Exposure): boolean {
  return publicUrl !== null && readHost(facts.header("host"), publicUrl.protocol)?.host === publicUrl.host
}

function isOwnOrigin(origin: string, host: URL, { publicUrl }: Exposure): boolean {
  if (origin === publicUrl?.origin) return true
  return isLoopbackName(host.hostname) && origin === host.origin
}

/**
 * The address that a request came from. Each proxy appends the address of its peer, so the last one that no trusted proxy
 * has counts; anybody could have written those before it.
 */
function clientAddress(facts: RequestFacts, proxies: BlockList): string | undefined {
  let address = facts.peer
  const forwarded = (facts.header("x-forwarded-for") ?? "").split(",").map((text) => bare(text.trim()))
  while (forwarded.length > 0 && isAmong(proxies, address)) {
    const before = forwarded.pop() ?? ""
    if (isIP(before) === 0) return address
    address = before
  }
  return address
}

/** Without the port that some proxies add. */
function bare(text: string): string {
  return /^\[(.+)\](?::\d+)?$/.exec(text)?.[1] ?? (/^[\d.]+:\d+$/.test(text) ? text.replace(/:\d+$/, "") : text)
}

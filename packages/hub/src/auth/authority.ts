import type { IncomingMessage } from "node:http"
import { type Clock, readBearer, systemClock } from "@signalbox/transport"
import { HubError } from "../errors.ts"
import type { Caller, TokenRecord } from "../model/access.ts"
import { readCookie, writeCookie } from "./cookie.ts"
import { checkHostAndOrigin, type Exposure, isSecurePublic, type OriginVerdict } from "./exposure.ts"
import { LoginCodes } from "./login-codes.ts"
import { LoginThrottle } from "./login-throttle.ts"
import { Logins } from "./logins.ts"
import { isLoopbackRequest } from "./loopback.ts"
import { factsOfMessage, type RequestFacts } from "./request-facts.ts"
import { hasAccess } from "./roles.ts"
import { callerOf, type TokenDirectory, Tokens } from "./tokens.ts"
import { clientAddress } from "./trusted-proxies.ts"

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

  private constructor(options: { tokens: Tokens; logins: Logins; exposure: Exposure; clock: Clock }) {
    this.tokens = options.tokens
    this.exposure = options.exposure
    this.#logins = options.logins
    this.#codes = new LoginCodes(options.clock)
    this.#throttle = new LoginThrottle(options.clock)
  }

  static async open({ directory, exposure, clock = systemClock }: AuthorityOptions): Promise<Authority> {
    const [tokens, logins] = await Promise.all([Tokens.open(directory, clock), Logins.open(directory, clock)])
    return new Authority({ tokens, logins, exposure, clock })
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
      const token = this.#tokenOfBearer(facts.header("authorization"))
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
  createLoginCode(tokenId: string): string {
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
    const token = "token" in credential ? this.tokens.find(credential.token) : this.#tokenOfCode(credential.code)
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
    const { loginId: value, maxAgeSeconds } = await this.#logins.create(token)
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

  #tokenOfBearer(header: string | undefined): TokenRecord | undefined {
    const secret = readBearer(header)
    return secret === undefined ? undefined : this.tokens.find(secret)
  }

  #callerOfLogin(loginId: string): Caller | undefined {
    const login = this.#logins.find(loginId)
    const token = login === undefined ? undefined : this.tokens.getLive(login.tokenId)
    return login === undefined || token === undefined ? undefined : { ...callerOf(token), login: login.hash }
  }

  #tokenOfCode(code: string): TokenRecord | undefined {
    const tokenId = this.#codes.redeem(code)
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

function unknownCredential(message: string): HubError {
  return new HubError("auth/required", message)
}

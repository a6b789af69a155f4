/** Which sessions this hub has, where hubs share a store. One that is alone has all, and needs none of this. */
export interface Ownership {
  /** Whether the other hubs take this one for alive: its sessions are its own. */
  readonly isCurrent: boolean
  /** A session that is new: nobody else can have it. */
  begin(id: string): void
  /** Resolves when the session is this hub's; what others wrote of it can be read then. Fails with `hub/moved` if a living hub has it. */
  claim(id: string): Promise<void>
  /** As `claim`, for the hub that its agent has come to: a living hub that has it is asked for it. */
  take(id: string, spawn: string | undefined): Promise<void>
  /** The same for a session that the store does not have: a hub may be starting its agent. */
  takeUnsaved(id: string, spawn: string | undefined): Promise<void>
  /** Nobody needs it here, or the hub `next` has it from now on. */
  release(id: string, next?: string): Promise<void>
  /** Whatever of it is still to be written here never will be. */
  drop(id: string): void
}

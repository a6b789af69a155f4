/** An admin's choices for the whole hub. */
export interface HubSettings {
  /** Operators may choose the mode `auto`, in which a model decides and nobody is asked. */
  readonly operatorsMayUseAuto: boolean
}

export const DEFAULT_SETTINGS: HubSettings = { operatorsMayUseAuto: false }

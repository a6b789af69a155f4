/** The tones, by their number: a worker sends numbers. */
export const TONES = ["comment", "string", "number", "keyword", "name", "added", "removed"] as const
export type Tone = (typeof TONES)[number]

/** The stretches of a line that have a colour: start, end and number of the tone, one after the other. */
export type LineColours = readonly number[]

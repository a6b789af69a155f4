import { preferences } from "../app/preferences.ts"

const LENGTH_S = 0.18
const PITCH_HZ = 660
let audio: AudioContext | undefined

/** One short tone when something waits, for those who chose it. */
export function soundOf(): void {
  if (preferences.get().notifySound) playTone()
}

/** A browser lets a page sound only after somebody touched it; before that it is silent. */
export function playTone(): void {
  audio ??= new AudioContext()
  void audio.resume().catch(() => undefined)
  const start = audio.currentTime
  const tone = audio.createOscillator()
  const volume = audio.createGain()
  tone.frequency.value = PITCH_HZ
  volume.gain.setValueAtTime(0.08, start)
  volume.gain.exponentialRampToValueAtTime(0.0001, start + LENGTH_S)
  tone.connect(volume).connect(audio.destination)
  tone.start(start)
  tone.stop(start + LENGTH_S)
}

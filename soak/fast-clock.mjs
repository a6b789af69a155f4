// @ts-check
// Loaded into the hub of the scripted year before anything else: its clock runs so fast that a day takes two seconds. It is a
// function of the real one alone, so every thread, and the hub that comes after a kill, has the same time. What a hub does each hour
// it does by this clock too; shorter timers stay, since most of them say how long something real may take.

const SPEED = (24 * 60 * 60) / 2
/** The moment at which both clocks agree. */
const SINCE = Number(process.env["SIGNALBOX_SOAK_SINCE"])

const realNow = Date.now.bind(Date)
const fastNow = () => SINCE + Math.floor((realNow() - SINCE) * SPEED)

globalThis.Date = new Proxy(Date, {
  construct: (RealDate, given) => Reflect.construct(RealDate, given.length === 0 ? [fastNow()] : given),
  get: (RealDate, name) => (name === "now" ? fastNow : Reflect.get(RealDate, name)),
})

const HOUR_MS = 3_600_000
/** Nearly two hours of this clock: a hub whose clock jumps by more than three deletes nothing. */
const FAST_HOUR_MS = 150

globalThis.setTimeout = new Proxy(setTimeout, {
  apply: (real, self, [run, ms, ...rest]) =>
    Reflect.apply(real, self, [run, ms === HOUR_MS ? FAST_HOUR_MS : ms, ...rest]),
})

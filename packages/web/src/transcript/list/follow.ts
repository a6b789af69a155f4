/** Whether the view runs along with what is said. Only the reader starts or stops it; layout never does. */

export interface ScrollFacts {
  readonly top: number
  readonly distanceToEnd: number
}

export type FollowInput =
  /** It scrolled while the reader held the scrollbar, or soon after a wheel, a touch or a key. */
  | { readonly type: "moved"; readonly from: ScrollFacts; readonly to: ScrollFacts }
  /** The reader turns upward, or opened, selected or went to something: they are busy here. */
  | { readonly type: "hold" }
  | { readonly type: "to-end" }

/** So close to the end is at the end. */
const NEAR_END_PX = 24

export function stepFollow(isFollowing: boolean, input: FollowInput): boolean {
  switch (input.type) {
    case "hold":
      return false
    case "to-end":
      return true
    case "moved":
      // At the end what becomes shorter moves the view up by itself: that is no wish to leave.
      if (input.to.top <= input.from.top - 1 && input.to.distanceToEnd > NEAR_END_PX) return false
      return isFollowing || (input.to.top > input.from.top && input.to.distanceToEnd <= NEAR_END_PX)
  }
}

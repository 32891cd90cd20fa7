/** The longest time of a timer as a duration. A timer of Node that is set to more than 24.8 days fires at once, again and again. */
export const maxTimer = '24d';

/** The same in milliseconds. */
export const maxTimerMs = 24 * 86_400_000;

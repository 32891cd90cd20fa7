import type { AdminServices } from './services.ts';

/** The time by the clock of the room's services. */
export function nowOf({ clock }: Pick<AdminServices, 'clock'>): Date {
  return clock === undefined ? new Date() : clock();
}

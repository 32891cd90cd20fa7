import type { JobContext } from './job.ts';

type Place = Pick<JobContext, 'page'>;

/** The parts of a page that the jobs use, by their role and their whole name. */
export const link = ({ page }: Place, name: string) => page.getByRole('link', { name, exact: true });
export const button = ({ page }: Place, name: string) => page.getByRole('button', { name, exact: true });
export const field = ({ page }: Place, name: string) => page.getByLabel(name, { exact: true });
export const dialog = ({ page }: Place) => page.getByRole('dialog');

/** A button of the dialog. */
export const answer = (place: Place, name: string) => dialog(place).getByRole('button', { name, exact: true });

/** The menu of a row. */
export const actions = (place: Place, name: string) => button(place, `Actions for ${name}`);

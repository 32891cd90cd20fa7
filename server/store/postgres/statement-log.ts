import type { PostgresConnection } from './connection.ts';

/** The settings that decide whether PostgreSQL writes the values of statements to its own log. */
interface LogSettings {
  readonly statement: string;
  /** Milliseconds; -1 logs none by duration. */
  readonly minDuration: string;
  /** Bytes of each value; -1 for all of them. Undefined before PostgreSQL 13, which logs all of them. */
  readonly maxLength: string | undefined;
}

/** Returns why values are in the log of PostgreSQL; undefined where they are not. */
export function loggedValues({ statement, minDuration, maxLength = '-1' }: LogSettings): string | undefined {
  if (maxLength === '0' || maxLength === '0B') return undefined;
  if (statement === 'all' || statement === 'mod') return `log_statement=${statement}`;
  if (!minDuration.startsWith('-')) return `log_min_duration_statement=${minDuration}`;
  return undefined;
}

export async function readLoggedValues(connection: PostgresConnection): Promise<string | undefined> {
  const [row] = await connection.runText(
    `select current_setting('log_statement', true), current_setting('log_min_duration_statement', true),
       current_setting('log_parameter_max_length', true)`,
  );
  const [statement = '', minDuration = '-1', maxLength] = (row ?? []).map((column) => column?.toString());
  return loggedValues({ statement, minDuration, maxLength });
}

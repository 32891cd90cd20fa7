/**
 * The log as a part of a program writes it: fields, and a message. A part takes the levels that it writes, `Pick<StructuredLog, 'info' |
 * 'warn'>`, so that a test passes a double with these alone.
 */
export interface StructuredLog {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

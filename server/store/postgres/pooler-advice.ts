/** The advice for a pooler that does not keep a session on one connection. */
export const sessionModeAdvice =
  'a pooler gives one connection to several sessions, which loses their settings and prepared statements: set pool_mode = session ' +
  'for this database in PgBouncer, or name the address of PostgreSQL itself';

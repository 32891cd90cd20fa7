/** The names of operators, functions and types of the SQL of S3 Select. */

export type BinaryOperator = '=' | '<>' | '<' | '<=' | '>' | '>=' | '+' | '-' | '*' | '/' | '%' | '||';

export type DatePart = 'year' | 'month' | 'day' | 'hour' | 'minute' | 'second' | 'timezone_hour' | 'timezone_minute';

export type TypeName = 'bool' | 'int' | 'float' | 'decimal' | 'string' | 'timestamp';

export type FunctionName =
  | 'CHAR_LENGTH'
  | 'COALESCE'
  | 'DATE_ADD'
  | 'DATE_DIFF'
  | 'EXTRACT'
  | 'LOWER'
  | 'NULLIF'
  | 'SUBSTRING'
  | 'TO_STRING'
  | 'TO_TIMESTAMP'
  | 'TRIM_BOTH'
  | 'TRIM_LEADING'
  | 'TRIM_TRAILING'
  | 'UPPER'
  | 'UTCNOW';

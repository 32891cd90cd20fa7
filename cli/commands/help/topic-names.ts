/** The topics, apart from their pages, which few command lines need. */
export const topicNames = [
  'aliases',
  'credentials',
  'policies',
  'encryption',
  'sizes',
  'exit-codes',
  'environment',
] as const;

/** The variables that the programs of the key service read, and libraries of its stores. */
export const variables = {
  prefixes: ['KEYSVC_', 'KES_', 'AZURE_', 'AWS_', 'GOOGLE_'],
  secrets: ['KEYSVC_KEY_PASSWORD'],
} as const;

/** What a provider is called in a sentence: the label of its button without the words that make it one. */
export function providerName(label: string): string {
  return label.replace(/^(?:sign|log) ?(?:in|on) (?:with|by|using|via|through) (?=\S)/i, '');
}

/** Shows a help text of a setting, which the server writes in English, as a sentence: names in backticks become code. */
export function HelpText({ text }: { readonly text: string }) {
  const sentence = text.charAt(0).toUpperCase() + text.slice(1);
  // The texts between backticks have odd indexes.
  return (
    <span lang="en">
      {sentence.split('`').map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}
    </span>
  );
}

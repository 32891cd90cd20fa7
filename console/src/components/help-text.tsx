/** Shows a help text of a setting, which the server writes in English. Names in backticks become code. */
export function HelpText({ text }: { readonly text: string }) {
  // The texts between backticks have odd indexes.
  return (
    <span lang="en">
      {text.split('`').map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}
    </span>
  );
}

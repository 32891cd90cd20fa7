/** A chest with its hasp. */
export function Logo({ size = 26 }: { readonly size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" fill="var(--mantine-color-patina-filled)" aria-hidden>
      <path d="M4 13.5V12a6.5 6.5 0 0 1 6.5-6.5h11A6.5 6.5 0 0 1 28 12v1.5h-8.6a3.6 3.6 0 0 0-6.8 0z" />
      <path d="M4 16h8.3v1.6a3.7 3.7 0 0 0 7.4 0V16H28v8a2.5 2.5 0 0 1-2.5 2.5h-19A2.5 2.5 0 0 1 4 24z" />
      <path d="M14.7 14.6a1.3 1.3 0 0 1 2.6 0v3a1.3 1.3 0 0 1-2.6 0z" />
    </svg>
  );
}

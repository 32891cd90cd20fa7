/** Copies chunks whose memory is only borrowed, and gives each back. */
export async function* copiedBody(
  body: AsyncIterable<Buffer>,
  release: (chunk: Buffer) => void,
): AsyncIterable<Buffer> {
  for await (const chunk of body) {
    const copy = Buffer.from(chunk);
    release(chunk);
    yield copy;
  }
}

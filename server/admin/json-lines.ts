/** Bytes of one piece: a client that reads slowly holds up no more. */
const mostAtOnce = 64 * 1024;

/** Each value on a line of its own, in pieces of whole lines: those that are there together go out together. */
export async function* jsonLines(batches: AsyncIterable<readonly object[]>): AsyncGenerator<Buffer, void> {
  for await (const values of batches) {
    let text = '';
    for (const value of values) {
      text += `${JSON.stringify(value)}\n`;
      if (text.length < mostAtOnce) continue;
      yield Buffer.from(text);
      text = '';
    }
    if (text !== '') yield Buffer.from(text);
  }
}

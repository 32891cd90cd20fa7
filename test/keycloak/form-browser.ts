/** A browser without scripts: it keeps cookies, follows redirects, and submits the first form of a page. */
export class FormBrowser {
  readonly #cookies = new Map<string, string>();
  #url = '';
  #html = '';

  get html(): string {
    return this.#html;
  }

  async open(url: string): Promise<void> {
    await this.#go(url, { method: 'GET' });
  }

  /** Sends the form with its hidden fields and these. */
  async submit(fields: Readonly<Record<string, string>>): Promise<void> {
    const action = /<form[^>]*\saction="([^"]*)"/.exec(this.#html)?.[1];
    if (action === undefined) throw new Error(`there is no form at ${this.#url}:\n${this.#html.slice(0, 2_000)}`);
    const body = new URLSearchParams();
    for (const [input] of this.#html.matchAll(/<input[^>]*type="hidden"[^>]*>/g)) {
      const [name, value] = [/\sname="([^"]*)"/.exec(input)?.[1], /\svalue="([^"]*)"/.exec(input)?.[1]];
      if (name !== undefined) body.set(name, unescaped(value ?? ''));
    }
    for (const [name, value] of Object.entries(fields)) body.set(name, value);
    await this.#go(new URL(unescaped(action), this.#url).href, { method: 'POST', body });
  }

  async #go(url: string, init: RequestInit): Promise<void> {
    let [next, request] = [url, init];
    for (let redirects = 0; redirects < 20; redirects += 1) {
      const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const answer = await fetch(next, { ...request, headers: { cookie }, redirect: 'manual' });
      for (const line of answer.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        this.#cookies.set(name, value);
      }
      const location = answer.headers.get('location');
      if (location === null) {
        [this.#url, this.#html] = [next, await answer.text()];
        return;
      }
      [next, request] = [new URL(location, next).href, { method: 'GET' }];
    }
    throw new Error(`too many redirects from ${url}`);
  }
}

function unescaped(text: string): string {
  return text.replaceAll('&amp;', '&').replaceAll('&quot;', '"').replaceAll('&#39;', "'");
}

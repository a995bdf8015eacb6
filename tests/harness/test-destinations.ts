import type { Destination, Destinations } from '../../src/telemetry/index.ts';

/** Integrations as observability keeps them: every agent's spans go to all that are enabled. */
export class TestDestinations implements Destinations {
  readonly #known = new Map<number, Destination>();
  readonly #listeners = new Set<() => void>();
  set(number: number, url: string, more: Partial<Destination> = {}): void {
    const before = this.#known.get(number);
    this.#known.set(number, {
      number,
      id: `integration-${number}`,
      provider: 'otlp_custom_headers',
      headers: [],
      resourceAttributes: {},
      enabled: true,
      ...before,
      url,
      revision: (before?.revision ?? 0) + 1,
      ...more,
    });
    for (const changed of this.#listeners) changed();
  }
  remove(number: number): void {
    this.#known.delete(number);
    for (const changed of this.#listeners) changed();
  }
  get = (number: number) => this.#known.get(number);
  all = () => [...this.#known.values()];
  table = () => ({
    forAgent: (agent: string | null) =>
      agent === null ? [] : this.all().flatMap((one) => (one.enabled ? [one.number] : [])),
  });
  onChange = (changed: () => void) => {
    this.#listeners.add(changed);
    return () => this.#listeners.delete(changed);
  };
}

/**
 * How many tabs of a browser follow a stream at once. All tabs share the six connections that a browser has to one host
 * over HTTP/1.1: with a stream in each of six windows next to each other, none would load anything any more.
 */
const mostStreams = 3;
/** How long a tab has a slot without renewing it: one that crashed gives it back then. */
const leaseMs = 15_000;
const renewMs = 5_000;

/** What the tabs of a browser share: its storage. Its locks would do as well, but only with TLS. */
interface Shared {
  read: (name: string) => string | null;
  write: (name: string, value: string | null) => void;
}

export interface StreamSlots {
  /** Takes a slot, or keeps the one of this tab. Returns whether there was one. */
  take: () => boolean;
  release: () => void;
}

/** The slots as tab `name` sees them. */
export const streamSlots = (shared: Shared, name: string, now: () => number = Date.now): StreamSlots => {
  let mine: string | null = null;
  let timer: ReturnType<typeof setInterval> | undefined;
  const holderOf = (slot: string): string | null => {
    const [holder = '', until] = (shared.read(slot) ?? '').split(' ');
    return Number(until) > now() ? holder : null;
  };
  const renew = () => {
    if (mine !== null) shared.write(mine, `${name} ${now() + leaseMs}`);
  };
  const release = () => {
    clearInterval(timer);
    if (mine !== null && holderOf(mine) === name) shared.write(mine, null);
    mine = null;
  };
  const take = () => {
    if (mine !== null) return true;
    const slots = Array.from({ length: mostStreams }, (_, index) => `stream-${index + 1}`);
    const free = slots.find((slot) => holderOf(slot) === null);
    if (free === undefined) return false;
    mine = free;
    renew();
    timer = setInterval(renew, renewMs);
    return true;
  };
  return { take, release };
};

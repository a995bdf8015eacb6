/**
 * The number of tabs of a browser that follow a stream at once. All tabs share the six connections that a browser has
 * to one host over HTTP/1.1: with a stream in each of six windows next to each other, none would load anything any
 * more.
 */
const mostStreams = 3;
/** The time that a tab has a slot without renewing it: one that crashed gives it back then. */
const leaseMs = 15_000;
const renewMs = 5_000;

/** The storage that the tabs of a browser share. Its locks would do as well, but only with TLS. */
interface Shared {
  read: (name: string) => string | null;
  write: (name: string, value: string | null) => void;
}

export interface StreamSlots {
  /**
   * Takes a slot, or keeps the one of this tab; false if there is none. `onLost` is called if another tab has it later:
   * both took it at the same moment, or this one stood still for so long that it counted as crashed.
   */
  take: (onLost: () => void) => boolean;
  release: () => void;
}

export const streamSlots = (shared: Shared, name: string, now: () => number = Date.now): StreamSlots => {
  let mine: string | null = null;
  let timer: ReturnType<typeof setInterval> | undefined;
  const holderOf = (slot: string): string | null => {
    const [holder = '', until] = (shared.read(slot) ?? '').split(' ');
    const left = Number(until) - now();
    // A clock that was set back leaves a time that no tab can have written.
    return left > 0 && left <= leaseMs ? holder : null;
  };
  const release = () => {
    clearInterval(timer);
    if (mine !== null && holderOf(mine) === name) shared.write(mine, null);
    mine = null;
  };
  const take = (onLost: () => void) => {
    const write = () => shared.write(mine!, `${name} ${now() + leaseMs}`);
    const renew = () => {
      const holder = holderOf(mine!);
      if (holder === null || holder === name) return write();
      release();
      onLost();
    };
    if (mine === null) {
      const slots = Array.from({ length: mostStreams }, (_, index) => `stream-${index + 1}`);
      mine = slots.find((slot) => holderOf(slot) === null) ?? null;
      if (mine === null) return false;
      write();
    }
    clearInterval(timer);
    timer = setInterval(renew, renewMs);
    return true;
  };
  return { take, release };
};

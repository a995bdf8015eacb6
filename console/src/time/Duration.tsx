import { duration } from '../text/format.ts';
import { useClock } from './clock.ts';

/** The duration of something, or until now if `to` is not given. */
export const Duration = ({ from, to }: { from: string; to?: string | null | undefined }) => {
  const start = Date.parse(from);
  const running = useClock((now) =>
    to ? '' : duration(Math.max(0, Math.round((now - start) / 1_000) * 1_000)),
  );
  return <span>{to ? duration(Date.parse(to) - start) : running}</span>;
};

import { useEffect, useState } from 'react';

/** Returns `value` as it was when it had not changed for `milliseconds`. */
export const useSettled = <T>(value: T, milliseconds: number): T => {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), milliseconds);
    return () => clearTimeout(timer);
  }, [value, milliseconds]);
  return settled;
};

import { useEffect } from 'react';

/** Loads the present address from the platform, which has another page there. */
export const LoadAgain = () => {
  useEffect(() => location.reload(), []);
  return null;
};

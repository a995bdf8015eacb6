/** Joins the names of classes that are there. `condition && name` leaves one out. */
export const cx = (...names: unknown[]): string =>
  names.filter((name) => typeof name === 'string' && name !== '').join(' ');

/** Fragments for statements of other features: a part of one statement cannot be a call. */
export { pinAssignment } from './versions/pins.ts';

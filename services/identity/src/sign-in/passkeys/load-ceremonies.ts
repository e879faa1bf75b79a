/** Loads what handles passkeys with the first of them: reading certificates takes 20 MB of memory that nothing else needs. */
export const loadCeremonies = () => import('./ceremonies.js');

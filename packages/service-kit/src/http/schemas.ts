import { Type } from 'typebox';

/** The response of an act that has nothing to return. */
export const Message = Type.Object({ message: Type.String() });

/** The path parameters of an operation on the thing with an id. */
export const IdPath = Type.Object({ id: Type.String({ format: 'uuid' }) });

"""What calls are held to before anything is computed, and results after it.

| file | checks |
|---|---|
| `arguments.py` | arguments have the plain types that a function is annotated with |
| `integers.py` | whole numbers are in their range |
| `requirements.py` | parameters keep the precision and the security that were asked for |
| `bounds.py` | values of a kernel stay within reason and within intervals |
| `ownership.py` | objects are of the right kind, and of one secret key |
| `alignment.py` | encrypted vectors come to one level and one scale |
| `results.py` | decrypted values keep the bounds that were declared |
| `ordinals.py` | lines of a message that are equal get a number |
"""

# Completion of @PROGRAM@ in bash: asks the program itself.

_@PROGRAM@() {
  local IFS=$'\n' line words=() begun= kept i
  # bash splits words at = and :, the program does not.
  for ((i = 1; i <= COMP_CWORD; i++)); do
    if [[ ${COMP_WORDS[i]} == [=:]* || ${COMP_WORDS[i - 1]} == *[=:] ]] && ((i > 1)); then
      words[-1]+=${COMP_WORDS[i]}
    else
      words+=("${COMP_WORDS[i]}")
    fi
  done
  begun=${words[-1]}
  kept=
  [[ $begun != *[=:]* ]] || kept=${begun%"${begun##*[=:]}"}
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      compopt -o filenames 2>/dev/null
      while IFS= read -r line; do
        COMPREPLY+=("$line")
      done < <(compgen -f -- "${begun#"$kept"}")
    elif [[ $line == :list ]]; then
      compopt -o nospace 2>/dev/null
    else
      line=${line%%$'\t'*}
      COMPREPLY+=("${line#"$kept"}")
    fi
  done < <("${COMP_WORDS[0]}" --complete "${words[@]}" 2>/dev/null)
  # The beginning of a value goes on.
  [[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != *[=:] ]] || compopt -o nospace 2>/dev/null
}

complete -F _@PROGRAM@ @PROGRAM@

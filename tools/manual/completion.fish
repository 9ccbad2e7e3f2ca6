# Completion of @PROGRAM@ in fish: asks the program itself.

function __complete_@PROGRAM@
    set -l words (commandline -opc) (commandline -ct)
    for line in ($words[1] --complete $words[2..-1] 2>/dev/null)
        if test "$line" = :files
            set -l begun (commandline -ct)
            set -l kept (string match -r -- '^--[^=]*=' $begun)
            for file in (__fish_complete_path (string replace -- "$kept" '' $begun))
                echo "$kept$file"
            end
        else if test "$line" != :list
            echo $line
        end
    end
end

complete -c @PROGRAM@ -f -a '(__complete_@PROGRAM@)'
